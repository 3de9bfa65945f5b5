// Providers as LiteLLM names them, and the presets that are the same here.

interface Provider {
  /** None: any server that speaks the chat style, at the address that is given. */
  preset?: string
  /** Variables in which LiteLLM looks for the key, in order. */
  keys: readonly string[]
  /** What is added to an address that is given. */
  path?: string
}

const plain = (preset: string, ...keys: string[]): Provider => ({ preset, keys })

export const providers: Readonly<Record<string, Provider>> = {
  openai: plain('openai', 'OPENAI_API_KEY'),
  'text-completion-openai': plain('openai', 'OPENAI_API_KEY'),
  custom_openai: { keys: ['OPENAI_LIKE_API_KEY', 'OPENAI_API_KEY'] },
  openai_like: { keys: ['OPENAI_LIKE_API_KEY', 'OPENAI_API_KEY'] },
  litellm_proxy: { keys: ['LITELLM_PROXY_API_KEY'] },
  azure: plain('azure-openai', 'AZURE_API_KEY', 'AZURE_OPENAI_API_KEY'),
  anthropic: plain('anthropic', 'ANTHROPIC_API_KEY'),
  gemini: plain('google', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'),
  vertex_ai: plain('vertex'),
  bedrock: plain('bedrock'),
  mistral: plain('mistral', 'MISTRAL_API_KEY'),
  deepseek: plain('deepseek', 'DEEPSEEK_API_KEY'),
  xai: plain('xai', 'XAI_API_KEY'),
  groq: plain('groq', 'GROQ_API_KEY'),
  cohere: plain('cohere', 'COHERE_API_KEY', 'CO_API_KEY'),
  cohere_chat: plain('cohere', 'COHERE_API_KEY', 'CO_API_KEY'),
  perplexity: plain('perplexity', 'PERPLEXITY_API_KEY', 'PERPLEXITYAI_API_KEY'),
  together_ai: plain('together', 'TOGETHERAI_API_KEY', 'TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'),
  fireworks_ai: plain('fireworks', 'FIREWORKS_AI_API_KEY', 'FIREWORKS_API_KEY'),
  openrouter: plain('openrouter', 'OPENROUTER_API_KEY', 'OR_API_KEY'),
  cerebras: plain('cerebras', 'CEREBRAS_API_KEY'),
  nvidia_nim: plain('nvidia', 'NVIDIA_NIM_API_KEY'),
  huggingface: plain('huggingface', 'HUGGINGFACE_API_KEY', 'HF_TOKEN'),
  deepinfra: plain('deepinfra', 'DEEPINFRA_API_KEY'),
  novita: plain('novita', 'NOVITA_API_KEY'),
  moonshot: plain('moonshot', 'MOONSHOT_API_KEY'),
  minimax: plain('minimax', 'MINIMAX_API_KEY'),
  dashscope: plain('dashscope-intl', 'DASHSCOPE_API_KEY'),
  volcengine: plain('volcengine', 'VOLCENGINE_API_KEY', 'ARK_API_KEY'),
  zai: plain('zai', 'ZAI_API_KEY'),
  hosted_vllm: plain('vllm', 'HOSTED_VLLM_API_KEY'),
  lm_studio: plain('lm-studio', 'LM_STUDIO_API_KEY'),
  ollama: { preset: 'ollama', keys: ['OLLAMA_API_KEY'], path: '/v1' },
  ollama_chat: { preset: 'ollama', keys: ['OLLAMA_API_KEY'], path: '/v1' },
}

/** LiteLLM knows these without their provider. */
const known: readonly [RegExp, string][] = [
  [
    /^(gpt-|o\d|chatgpt-|text-embedding-|dall-e|ft:gpt|tts-|whisper-|(omni|text)-moderation)/,
    'openai',
  ],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'vertex_ai'],
  [/^(command|rerank-)/, 'cohere_chat'],
]

/** 'azure/my-gpt' -> azure, my-gpt. */
export function splitModel(
  model: string,
  said: string | undefined,
): { provider: string; upstream: string } | undefined {
  const [first = '', ...rest] = model.split('/')
  if (said !== undefined) {
    return { provider: said, upstream: first === said ? rest.join('/') : model }
  }
  if (rest.length > 0 && providers[first] !== undefined) {
    return { provider: first, upstream: rest.join('/') }
  }
  const provider = known.find(([pattern]) => pattern.test(model))?.[1]
  return provider === undefined ? undefined : { provider, upstream: model }
}
