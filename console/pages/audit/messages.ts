// Texts of the audit log.
import { defineMessages } from '../../lib/i18n.ts'

export const messages = defineMessages({
  title: ['Audit log', '审计日志'],
  hint: [
    'Every change made through the console or the admin API. Entries cannot be edited or deleted.',
    '通过控制台或管理接口所做的每一次变更。记录不可修改、不可删除。',
  ],
  who: ['Actor', '操作人'],
  kind: ['Actor type', '操作人类型'],
  kind_person: ['Person', '用户'],
  kind_admin_token: ['Admin token', '管理令牌'],
  kind_gateway: ['Gateway', '网关'],
  action: ['Action', '操作'],
  subject: ['Resource', '对象'],
  address: ['IP address', '来源 IP'],
  changes: ['Changes', '变更内容'],
  empty: ['No changes recorded yet.', '暂无变更记录。'],
  same: ['Show unchanged fields', '显示未变更的字段'],
  nothing: ['No field changes were recorded for this action.', '此操作没有字段变更记录。'],
  of_this: ['All changes to this resource', '该对象的全部变更'],
})
