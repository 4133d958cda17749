"""From events to tokens: vocabularies, encoded visits and the launches that start from them."""
