"""Who is in and when: checked stays and events, splits, groups, and the tables on disk."""
