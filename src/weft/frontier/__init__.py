"""Order, politeness, and the memory of every URL. `frontier.Frontier` is the way in; docs/frontier.md the story."""
