"""How people write what would lead to them, one module a class: contacts, numbers, places, people."""
