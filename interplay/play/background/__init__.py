"""What runs beside the games, in processes of low priority: sealing recordings, drawing pictures again, making films."""
