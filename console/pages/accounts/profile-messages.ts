// Texts about who an account is.
import { defineMessages } from '../../lib/i18n.ts'

export const profileMessages = defineMessages({
  profile_hint: [
    'Who the customer is. Bills that are closed from now on have what is set here.',
    '客户的身份信息，用于此后结账的账单。',
  ],
  display_name: ['Display name', '显示名称'],
  display_name_hint: ['In any script; shown beside the name.', '可使用任意文字，显示在名称旁。'],
  legal_name: ['Legal name', '法定名称'],
  address: ['Address', '地址'],
  tax_id: ['Tax ID', '税号'],
  email: ['E-mail for bills', '账单邮箱'],
  contact: ['Contact', '联系人'],
  phone: ['Telephone', '电话'],
  save_profile: ['Save profile', '保存资料'],
  profile_saved: ['The profile is saved.', '资料已保存。'],
})
