// Texts of the audit log.
import { defineMessages } from '../../lib/i18n.ts'

export const messages = defineMessages({
  en: {
    title: 'Audit log',
    hint: 'Every change made through the console or the admin API. Rows are only ever added.',
    who: 'Who',
    action: 'What was done',
    subject: 'To what',
    address: 'From address',
    changes: 'What changed',
    empty: 'Nothing was changed yet.',
    same: 'Show what stayed the same',
    nothing: 'Nothing is noted besides that it was done.',
    of_this: 'All changes to this',
  },
  zh: {
    title: '审计日志',
    hint: '通过控制台或管理接口所做的每一次变更。记录只增不改。',
    who: '操作人',
    action: '操作',
    subject: '对象',
    address: '来源地址',
    changes: '变更内容',
    empty: '尚无变更。',
    same: '显示未变更的字段',
    nothing: '除操作本身外没有其他记录。',
    of_this: '该对象的全部变更',
  },
})
