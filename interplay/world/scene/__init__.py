"""What a browser needs to draw the world for one seat: land, news of each tick, and the tables that never change, as bytes."""
