// Presets of clouds, where accounts stand in place of keys and the host follows from a region. Facts of their
// public documentation.
import type { Preset } from '../../contract/config-schema/preset.ts'

/** Regions of several countries have a host of their own. */
function vertexHost(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  return location === 'us' || location === 'eu'
    ? `https://aiplatform.${location}.rep.googleapis.com`
    : `https://${location}-aiplatform.googleapis.com`
}

const azureBase = 'https://RESOURCE.openai.azure.com/openai/v1'

export const clouds: readonly Preset[] = [
  {
    name: 'bedrock',
    title: 'Amazon Bedrock',
    group: 'clouds',
    protocols: { bedrock: 'https://bedrock-runtime.REGION.amazonaws.com' },
    cloud: 'aws',
    addressIn: (region) => `https://bedrock-runtime.${region}.amazonaws.com`,
    needsBaseUrl: true,
    keyForm: 'an API key of Bedrock, with base_url, where there is no auth.aws',
    models: {},
    docs: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/welcome.html',
    notes: [
      'Models whose id contains `anthropic.` are called by InvokeModel, all others by Converse.',
      'Upstream names are ids of models, of inference profiles (`eu.…`, `global.…`), or ARNs.',
      'It has no list of models here: write them in `models`.',
    ],
  },
  {
    name: 'vertex',
    title: 'Google Vertex AI',
    group: 'clouds',
    protocols: {
      generate: 'https://LOCATION-aiplatform.googleapis.com',
      messages: 'https://LOCATION-aiplatform.googleapis.com',
    },
    cloud: 'google',
    addressIn: vertexHost,
    needsBaseUrl: true,
    models: {},
    docs: 'https://cloud.google.com/vertex-ai/generative-ai/docs',
    notes: [
      'Models of Google are served by `generate`, those of Anthropic by `messages`: give each its own protocols.',
    ],
  },
  {
    name: 'azure-entra',
    title: 'Azure OpenAI with Entra ID',
    group: 'clouds',
    protocols: {
      chat: azureBase,
      responses: azureBase,
      embeddings: azureBase,
      images: azureBase,
    },
    cloud: 'azure',
    needsBaseUrl: true,
    models: {},
    training: 'no',
    docs: 'https://learn.microsoft.com/azure/ai-foundry/openai/how-to/managed-identity',
    notes: [
      'The application needs the role Cognitive Services OpenAI User.',
      'Upstream names are those of deployments.',
    ],
  },
]
