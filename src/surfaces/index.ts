// Every surface, one line each.
import { createDialects } from '../http/dialect.ts'
import { arkvendor } from './arkvendor/index.ts'
import { chat } from './chat/index.ts'
import { embeddings } from './embeddings/index.ts'
import { files } from './files/index.ts'
import { images } from './images/index.ts'
import { imgvendor } from './imgvendor/index.ts'
import { messages } from './messages/index.ts'
import { models } from './models/index.ts'
import { responses } from './responses/index.ts'
import { sandboxMedia } from './sandbox/index.ts'
import type { Surface } from './surface.ts'
import { usage } from './usage/index.ts'
import { vendorg } from './vendorg/index.ts'
import { videos } from './videos/index.ts'

export const surfaces: readonly Surface[] = [
  chat,
  responses,
  messages,
  embeddings,
  models,
  images,
  imgvendor,
  videos,
  vendorg,
  arkvendor,
  files,
  sandboxMedia,
  usage,
]

/** How each of them is spoken to, by path. */
export const dialects = createDialects(surfaces)
