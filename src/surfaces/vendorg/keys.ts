// The keys of a create of a long-running operation.
import { keysOf, plain } from '../../http/body/exact-keys.ts'

const medium = {
  ...plain('uri', 'gcsUri', 'bytesBase64Encoded', 'mimeType', 'encodedVideo', 'videoBytes'),
  ...plain('imageBytes', 'encoding'),
  inlineData: plain('data', 'mimeType'),
}

/** May stand beside the prompt or among the parameters. */
const media = {
  image: medium,
  lastFrame: medium,
  video: medium,
  referenceImages: { ...medium, image: medium, ...plain('referenceType', 'style') },
}

export const operationKeys = keysOf({
  instances: { ...plain('prompt'), ...media },
  parameters: {
    ...plain('sampleCount', 'durationSeconds', 'resolution', 'aspectRatio', 'seed', 'fps'),
    ...plain('negativePrompt', 'personGeneration', 'enhancePrompt', 'generateAudio', 'storageUri'),
    ...plain('numberOfVideos', 'compressionQuality', 'pubsubTopic', 'resizeMode'),
    ...media,
  },
})
