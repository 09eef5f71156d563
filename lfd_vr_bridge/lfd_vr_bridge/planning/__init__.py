"""Plans for robots that are not there, in a process of their own, and what planning gives, as the page is told."""
