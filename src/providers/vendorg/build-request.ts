// The plain request in the upstream's format: media go beside the prompt, options into the
// parameters. Images go as bytes; those given by URL are fetched before.
import type { TaskUpstream } from '../../contract/provider.ts'
import type { InputMedia, VideoRequest } from '../../contract/task.ts'

type Role = NonNullable<InputMedia['role']>
type FetchMedia = TaskUpstream['fetchMedia']

/** As its own SDK sends it. */
interface Image {
  bytesBase64Encoded: string
  mimeType: string
}

interface Instance {
  prompt: string
  image?: Image
  lastFrame?: Image
  referenceImages?: { image: Image; referenceType: 'asset' }[]
}

interface Body {
  instances: [Instance]
  parameters: {
    durationSeconds: number
    resolution: string
    aspectRatio?: string
    seed?: number
    negativePrompt?: string
    personGeneration?: string
    enhancePrompt?: boolean
    sampleCount: 1
  }
}

/** The role of images without one, by how many there are; more are references. */
const usualRoles: Readonly<Record<number, readonly Role[]>> = {
  1: ['first_frame'],
  2: ['first_frame', 'last_frame'],
}
const roleNames: Readonly<Record<Role, string>> = {
  first_frame: 'first frame',
  last_frame: 'last frame',
  reference: 'reference image',
}

export async function buildBody(
  request: VideoRequest,
  fetchMedia: FetchMedia,
): Promise<Body | { problem: string }> {
  const { prompt, seconds, resolution, ratio, seed, media } = request
  const { negativePrompt, personGeneration, enhancePrompt } = request
  const uses = usesOf(media)
  if ('problem' in uses) return uses
  const images = await Promise.all(uses.map((use) => imageOf(use, fetchMedia)))
  const problem = images.find((image) => 'problem' in image)
  if (problem !== undefined) return problem
  return {
    instances: [instanceFor(prompt, uses, images as Image[])],
    parameters: {
      durationSeconds: seconds,
      resolution,
      ...(ratio !== undefined && { aspectRatio: ratio }),
      ...(seed !== undefined && { seed }),
      ...(negativePrompt !== undefined && { negativePrompt }),
      ...(personGeneration !== undefined && { personGeneration }),
      ...(enhancePrompt !== undefined && { enhancePrompt }),
      sampleCount: 1,
    },
  }
}

interface Use {
  role: Role
  url: string
}

function usesOf(media: readonly InputMedia[]): readonly Use[] | { problem: string } {
  const uses: Use[] = []
  for (const [index, { kind, url, role }] of media.entries()) {
    const use = role ?? usualRoles[media.length]?.[index] ?? 'reference'
    if (kind !== 'image') {
      return { problem: `the model has no use for item ${index + 1} of its input, of kind ${kind}` }
    }
    uses.push({ role: use, url })
  }
  return uses
}

async function imageOf(
  { role, url }: Use,
  fetchMedia: FetchMedia,
): Promise<Image | { problem: string }> {
  const inline = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+);base64,/i.exec(url)
  if (inline !== null) {
    return { bytesBase64Encoded: url.slice(inline[0].length), mimeType: inline[1]! }
  }
  const fetched = await fetchMedia(url)
  if ('problem' in fetched) {
    return { problem: `the ${roleNames[role]} ${url} could not be fetched: ${fetched.problem}` }
  }
  const { bytes, mimeType } = fetched
  return { bytesBase64Encoded: Buffer.from(bytes).toString('base64'), mimeType }
}

function instanceFor(prompt: string, uses: readonly Use[], images: readonly Image[]): Instance {
  const instance: Instance = { prompt }
  const references: NonNullable<Instance['referenceImages']> = []
  for (const [index, { role }] of uses.entries()) {
    const image = images[index]!
    if (role === 'reference') references.push({ image, referenceType: 'asset' })
    else if (role === 'first_frame') instance.image = image
    else instance.lastFrame = image
  }
  if (references.length > 0) instance.referenceImages = references
  return instance
}
