"""What is minimised: rows and their divergences, costs, penalties."""
