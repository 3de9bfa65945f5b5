// The plain request in the upstream's form: what is seen goes beside the prompt, what is wished
// goes into the parameters.
import type { InputMedia, VideoRequest } from '../../contract/task.ts'

type Role = NonNullable<InputMedia['role']>

/** As its own SDK sends it, or by address. */
type Picture = { bytesBase64Encoded: string; mimeType: string } | { uri: string }

export interface Instance {
  prompt: string
  image?: Picture
  lastFrame?: Picture
  referenceImages?: { image: Picture; referenceType: 'asset' }[]
}

export interface Body {
  instances: [Instance]
  parameters: {
    durationSeconds: number
    resolution: string
    aspectRatio?: string
    seed?: number
    sampleCount: 1
  }
}

const mostReferences = 3

/** What pictures without a role are for, by how many there are. */
const usualRoles: Readonly<Record<number, readonly Role[]>> = {
  1: ['first_frame'],
  2: ['first_frame', 'last_frame'],
  3: ['reference', 'reference', 'reference'],
}

export function bodyFor(request: VideoRequest): Body | { problem: string } {
  const { prompt, seconds, resolution, ratio, seed, media } = request
  const instance = instanceFor(prompt, media)
  if ('problem' in instance) return instance
  return {
    instances: [instance],
    parameters: {
      durationSeconds: seconds,
      resolution,
      ...(ratio !== undefined && { aspectRatio: ratio }),
      ...(seed !== undefined && { seed }),
      sampleCount: 1,
    },
  }
}

function instanceFor(prompt: string, media: readonly InputMedia[]): Instance | { problem: string } {
  const instance: Instance = { prompt }
  const references: NonNullable<Instance['referenceImages']> = []
  for (const [index, { kind, url, role }] of media.entries()) {
    const use = role ?? usualRoles[media.length]?.[index]
    if (kind !== 'image' || use === undefined) {
      return { problem: `the model has no use for item ${index + 1} of its input, of kind ${kind}` }
    }
    const image = pictureOf(url)
    if (use === 'reference') references.push({ image, referenceType: 'asset' })
    else if (use === 'first_frame') instance.image = image
    else instance.lastFrame = image
  }
  if (references.length > mostReferences) {
    return { problem: `the model takes at most ${mostReferences} reference images` }
  }
  if (references.length > 0) instance.referenceImages = references
  return instance
}

function pictureOf(url: string): Picture {
  const inline = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+);base64,/i.exec(url)
  if (inline === null) return { uri: url }
  return { bytesBase64Encoded: url.slice(inline[0].length), mimeType: inline[1]! }
}
