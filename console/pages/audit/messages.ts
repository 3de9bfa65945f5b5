// Texts of the audit log.
import { defineMessages } from '../../lib/i18n.ts'

export const messages = defineMessages({
  en: {
    title: 'Audit log',
    hint: 'Every change made through the console or the admin API. Entries cannot be edited or deleted.',
    who: 'Actor',
    action: 'Action',
    subject: 'Resource',
    address: 'IP address',
    changes: 'Changes',
    empty: 'No changes recorded yet.',
    same: 'Show unchanged fields',
    nothing: 'No field changes were recorded for this action.',
    of_this: 'All changes to this resource',
  },
  zh: {
    title: '审计日志',
    hint: '通过控制台或管理接口所做的每一次变更。记录不可修改、不可删除。',
    who: '操作人',
    action: '操作',
    subject: '对象',
    address: '来源 IP',
    changes: '变更内容',
    empty: '暂无变更记录。',
    same: '显示未变更的字段',
    nothing: '此操作没有字段变更记录。',
    of_this: '该对象的全部变更',
  },
})
