"""What lies in slots, and where a screen shows them."""
