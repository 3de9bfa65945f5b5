// Codes of the gateway as the reader's language has them; what is not known stays as the gateway wrote it.
import { fillIn, textIn, useLanguage } from '../i18n.ts'
import type { Messages } from '../texts.ts'
import {
  alertAdvice,
  alertKinds,
  auditActions,
  callbackStates,
  callEndings,
  channelHealth,
  entryKinds,
  finishReasons,
  ledgerChecks,
  lossReasons,
  modelKinds,
  noticeTypes,
  roles,
  sources,
  units,
} from './codes.ts'
import { errorCodes } from './errors.ts'
import { sentenceInChinese } from './sentences.ts'
import { stepTitles } from './timeline.ts'

const vocabularies = {
  alert: alertKinds,
  alert_advice: alertAdvice,
  audit_action: auditActions,
  callback: callbackStates,
  channel_health: channelHealth,
  ending: callEndings,
  entry: entryKinds,
  error: errorCodes,
  finish_reason: finishReasons,
  ledger_check: ledgerChecks,
  loss: lossReasons,
  model: modelKinds,
  notice: noticeTypes,
  role: roles,
  source: sources,
  unit: units,
}

type Vocabulary = keyof typeof vocabularies

export interface ServerText {
  /** The text for a code; `fallback` where there is none, the code itself by default. */
  text(vocabulary: Vocabulary, code: string, fallback?: string): string
  /** `code: text of the gateway`, with the code translated. */
  note(note: string): string
  step(kind: string, times: number): string
  /** A whole sentence of the gateway. */
  sentence(text: string): string
}

export function useServerText(): ServerText {
  const language = useLanguage()
  const text = (vocabulary: Vocabulary, code: string, fallback = code): string => {
    const texts: Messages<string> = vocabularies[vocabulary]
    return Object.hasOwn(texts, code) ? textIn(language, texts[code]!) : fallback
  }
  return {
    text,
    note(note) {
      const [, code = '', rest = ''] = /^([a-z_]+): (.*)$/s.exec(note) ?? []
      const sentence = text('error', code, '')
      return sentence === '' ? note : `${sentence} ${rest}`
    },
    step(kind, times) {
      const titles = stepTitles[kind]
      const title = (times > 1 ? titles?.many : undefined) ?? titles?.one
      return fillIn(title === undefined ? kind : textIn(language, title), { n: times })
    },
    sentence: (sentence) =>
      (language === 'zh' ? sentenceInChinese(sentence) : undefined) ?? sentence,
  }
}
