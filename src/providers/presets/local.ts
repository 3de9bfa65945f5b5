// Presets of servers that run on machines of the operator, with their usual ports. Facts of their public
// documentation.
import type { Preset } from '../../contract/config-schema/preset.ts'

const own = {
  group: 'local',
  keyless: true,
  models: {},
  retention: 'none',
  training: 'no',
} as const

export const local: readonly Preset[] = [
  {
    ...own,
    name: 'vllm',
    title: 'vLLM',
    protocols: {
      chat: 'http://localhost:8000/v1',
      responses: 'http://localhost:8000/v1',
      messages: 'http://localhost:8000',
      embeddings: 'http://localhost:8000/v1',
      rerank: 'http://localhost:8000/v1',
      transcriptions: 'http://localhost:8000/v1',
    },
    docs: 'https://docs.vllm.ai/en/stable/serving/online_serving.html',
    notes: ['A server started with --api-key needs that key.'],
  },
  {
    ...own,
    name: 'ollama',
    title: 'Ollama',
    protocols: {
      chat: 'http://localhost:11434/v1',
      responses: 'http://localhost:11434/v1',
      messages: 'http://localhost:11434',
      embeddings: 'http://localhost:11434/v1',
    },
    docs: 'https://docs.ollama.com/api/openai-compatibility',
    notes: [
      'The context is cut to the num_ctx of the model without an error: raise it for long prompts.',
    ],
  },
  {
    ...own,
    name: 'lm-studio',
    title: 'LM Studio',
    protocols: {
      chat: 'http://localhost:1234/v1',
      responses: 'http://localhost:1234/v1',
      messages: 'http://localhost:1234',
      embeddings: 'http://localhost:1234/v1',
    },
    docs: 'https://lmstudio.ai/docs/developer',
  },
  {
    ...own,
    name: 'llama-cpp',
    title: 'llama.cpp server',
    protocols: {
      chat: 'http://localhost:8080/v1',
      messages: 'http://localhost:8080',
      embeddings: 'http://localhost:8080/v1',
      rerank: 'http://localhost:8080/v1',
    },
    docs: 'https://github.com/ggml-org/llama.cpp/tree/master/tools/server',
    notes: ['Its usual port is that of this gateway, too: start one of them on another port.'],
  },
  {
    ...own,
    name: 'sglang',
    title: 'SGLang',
    protocols: {
      chat: 'http://localhost:30000/v1',
      messages: 'http://localhost:30000',
      embeddings: 'http://localhost:30000/v1',
    },
    docs: 'https://docs.sglang.io/docs/basic_usage/anthropic_api',
  },
]
