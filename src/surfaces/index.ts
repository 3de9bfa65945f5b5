// Every surface, one line each.
import type { Interface, InterfaceRow } from '../contract/catalog.ts'
import { createDialects } from '../http/dialect.ts'
import { arkvendor } from './arkvendor/index.ts'
import { batches } from './batches/index.ts'
import { chat } from './chat/index.ts'
import type { Surface } from './common/surface.ts'
import { embeddings } from './embeddings/index.ts'
import { files } from './files/index.ts'
import { generate } from './generate/index.ts'
import { images } from './images/index.ts'
import { imgvendor } from './imgvendor/index.ts'
import { messages } from './messages/index.ts'
import { models } from './models/index.ts'
import { moderations } from './moderations/index.ts'
import { rerank } from './rerank/index.ts'
import { responses } from './responses/index.ts'
import { sandboxMedia } from './sandbox/index.ts'
import { speech } from './speech/index.ts'
import { transcriptions } from './transcriptions/index.ts'
import { usage } from './usage/index.ts'
import { vendorg } from './vendorg/index.ts'
import { videos } from './videos/index.ts'

export const surfaces: readonly Surface[] = [
  chat,
  responses,
  messages,
  generate,
  embeddings,
  rerank,
  moderations,
  speech,
  transcriptions,
  models,
  images,
  imgvendor,
  videos,
  vendorg,
  arkvendor,
  files,
  sandboxMedia,
  batches,
  usage,
]

/** What each that serves models says of them, by its name. */
export const interfaceRows: Readonly<Record<Interface, InterfaceRow>> = Object.fromEntries(
  surfaces.flatMap(({ name, interface: row }) => (row === undefined ? [] : [[name, row]])),
)

const aliases = surfaces.flatMap(({ aliasOf }) => (aliasOf === undefined ? [] : [aliasOf]))

/** The path that is routed. */
export function routedPath(path: string): string {
  for (const aliasOf of aliases) {
    const own = aliasOf(path)
    if (own !== undefined) return own
  }
  return path
}

/** How each of them is spoken to, by path. */
export const dialects = createDialects(surfaces)
