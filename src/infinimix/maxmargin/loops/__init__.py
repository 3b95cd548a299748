"""The compiled loops of the room."""
