// Types of channels as new-api numbers them: what is asked at which address.

interface Upstream {
  name: string
  preset?: string
  /** What new-api adds to the address of a channel. */
  path: string
  protocol?: 'chat' | 'messages' | 'generate'
  /** Without a preset: the address of a channel that names none. */
  base?: string
}

const maker = (name: string, preset: string, path: string): Upstream => ({ name, preset, path })

export const upstreams: Readonly<Record<number, Upstream>> = {
  1: maker('OpenAI', 'openai', '/v1'),
  4: maker('Ollama', 'ollama', '/v1'),
  8: { name: 'custom', path: '' },
  14: { ...maker('Anthropic', 'anthropic', ''), protocol: 'messages' },
  16: maker('Zhipu', 'zhipu', '/api/paas/v4'),
  17: maker('Ali', 'dashscope', '/compatible-mode/v1'),
  20: maker('OpenRouter', 'openrouter', '/v1'),
  24: { ...maker('Gemini', 'google', ''), protocol: 'generate' },
  25: maker('Moonshot', 'moonshot-cn', '/v1'),
  26: maker('Zhipu', 'zhipu', '/api/paas/v4'),
  27: maker('Perplexity', 'perplexity', ''),
  31: { name: 'LingYiWanWu', path: '/v1', base: 'https://api.lingyiwanwu.com' },
  34: maker('Cohere', 'cohere', '/compatibility/v1'),
  35: maker('MiniMax', 'minimax-cn', '/v1'),
  40: maker('SiliconFlow', 'siliconflow', '/v1'),
  42: maker('Mistral', 'mistral', '/v1'),
  43: maker('DeepSeek', 'deepseek', '/v1'),
  45: maker('VolcEngine', 'volcengine', '/api/v3'),
  46: { name: 'Baidu', path: '/v2', base: 'https://qianfan.baidubce.com' },
  47: { name: 'Xinference', path: '/v1' },
  48: maker('xAI', 'xai', '/v1'),
  53: { name: 'Submodel', path: '/v1', base: 'https://llm.submodel.ai' },
  60: { name: 'new-api', path: '/v1' },
}

/** Those with an account in place of a key, or with an address of their own form. */
export const clouds = { azure: 3, aws: 33, vertex: 41 } as const
