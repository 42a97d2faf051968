"""Headers of requests from pages of this server and of others."""

OWN = {"origin": "http://localhost:8080", "host": "localhost:8080", "content-type": "application/json"}
FOREIGN = {**OWN, "origin": "https://evil.example"}
FORM = {**OWN, "content-type": "application/x-www-form-urlencoded"}
