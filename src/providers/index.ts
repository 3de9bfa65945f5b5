// Every provider, one line each.
import type { Protocol } from '../contract/catalog.ts'
import type { Provider } from '../contract/provider.ts'

export { cloudClient, projectOf } from './cloud/index.ts'
export { CredentialError } from './common/credential-error.ts'

import { arkvendor } from './arkvendor/index.ts'
import { bedrockProvider } from './bedrock/index.ts'
import { callStyles } from './call-styles.ts'
import { callProvider } from './calls/send.ts'
import { chat } from './chat/index.ts'
import { embeddings } from './embeddings/index.ts'
import { generate } from './generate/index.ts'
import { images } from './images/index.ts'
import { imgvendor } from './imgvendor/index.ts'
import { messages, messagesStyle } from './messages/index.ts'
import { responses } from './responses/index.ts'
import { vendorg } from './vendorg/index.ts'
import { vf } from './vf/index.ts'

const all: readonly Provider[] = [
  chat,
  responses,
  messages,
  generate,
  bedrockProvider(messagesStyle),
  embeddings,
  ...callStyles.map(callProvider),
  images,
  vf,
  imgvendor,
  arkvendor,
  vendorg,
]

export const providers: ReadonlyMap<Protocol, Provider> = new Map(
  all.map((provider) => [provider.protocol, provider]),
)

/** By protocol: the path after a channel's base URL. */
export const protocolPaths: Readonly<Record<Protocol, string>> = Object.fromEntries(
  all.map(({ protocol, path }) => [protocol, path]),
)

/** Those of images and videos. */
export const taskProtocols: ReadonlySet<Protocol> = new Set(
  all.filter(({ image, video }) => image ?? video).map(({ protocol }) => protocol),
)

/** Of protocols in which upstreams speak the style of the model. */
export const protocolStyles: Readonly<Record<Protocol, (upstreamModel: string) => Protocol>> =
  Object.fromEntries(
    all.flatMap(({ protocol, styleOf }) => (styleOf === undefined ? [] : [[protocol, styleOf]])),
  )
