"""Who was studied, what the held-out score says of them, how many a next study needs."""
