"""Tamis in other libraries, each imported on demand.

`tamis.adapters.langchain`, `tamis.adapters.llama_index` and `tamis.adapters.haystack` have a retriever over an index, and a step that
cuts the results of other retrievers. Each needs its library: `pip install 'tamis[langchain]'`, `'tamis[llama-index]'` or
`'tamis[haystack]'`. `tamis.adapters.results` cuts the results of rerankers and vector databases, and needs none of them.
"""
