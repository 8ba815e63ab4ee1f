"""How people write what could identify them, one module per class: contacts, numbers, places, people."""
