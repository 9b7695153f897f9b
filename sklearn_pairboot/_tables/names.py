"""Names of models and metrics that can be seen, whatever they hold."""


def visible(name: str) -> str:
    """Show a name as it is, or as Python writes it if it holds what cannot be seen."""
    return name if name and name.isprintable() and name == name.strip() else repr(name)


def visible_text(text: str) -> str:
    """Escape what cannot be seen in a text, such as control characters in a name it quotes."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
