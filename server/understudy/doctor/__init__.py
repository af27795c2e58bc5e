"""Why nothing moves, or looks wrong: facts collected by listening, and what they mean in words."""
