// Every surface, one line each.
import { chat } from './chat/index.ts'
import { models } from './models/index.ts'
import type { Surface } from './surface.ts'

export const surfaces: readonly Surface[] = [chat, models]
