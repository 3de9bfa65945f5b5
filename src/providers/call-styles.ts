// Every style of calls that are no conversation, one line each: for the registry of providers, and for the thread
// that writes their large requests and reads their large answers.
import type { CallStyle } from './calls/style.ts'
import { moderationsStyle } from './moderations/index.ts'
import { rerankStyle } from './rerank/index.ts'
import { speechStyle } from './speech/index.ts'
import { transcriptionsStyle } from './transcriptions/index.ts'

export const callStyles: readonly CallStyle[] = [
  rerankStyle,
  moderationsStyle,
  speechStyle,
  transcriptionsStyle,
]
