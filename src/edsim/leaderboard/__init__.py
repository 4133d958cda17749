"""A leaderboard: score sheets that were looked at on entry, and the static site made of them."""
