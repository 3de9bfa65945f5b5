// All conversations of the matrix.
import { answerCases } from './answers.ts'
import type { ConversationCase } from './conversation-case.ts'
import { mediaCases } from './media.ts'
import { repairCases } from './repairs.ts'
import { settingCases } from './settings.ts'
import { toolCases } from './tools.ts'
import { turnCases } from './turns.ts'

export const cases: readonly ConversationCase[] = [
  ...turnCases,
  ...toolCases,
  ...mediaCases,
  ...settingCases,
  ...repairCases,
  ...answerCases,
]
