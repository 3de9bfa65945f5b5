// Texts of the people page.
import { defineMessages } from '../../lib/i18n.ts'

export const messages = defineMessages({
  title: ['People', '用户'],
  hint: [
    'People who can sign in to this console, and their roles.',
    '可登录控制台的用户及其角色。',
  ],
  add: ['Add person', '新增用户'],
  name: ['Name', '用户名'],
  role: ['Role', '角色'],
  password: ['Initial password', '初始密码'],
  created: ['Created', '创建时间'],
  active: ['Active', '可用'],
  disabled: ['Disabled', '已停用'],
  enable: ['Enable', '启用'],
  disable: ['Disable', '停用'],
  actions: ['Actions for {name}', '{name} 的操作'],
  change_role: ['Change role', '更改角色'],
  change_role_text: [
    'The sessions of {name} end; they sign in again with the new role.',
    '{name} 的会话将结束，重新登录后生效。',
  ],
  reset_password: ['Reset password', '重置密码'],
  reset_password_text: [
    'Creates a link with which {name} sets a new password. The old password works until then.',
    '生成一个链接，{name} 可用其设置新密码。在此之前旧密码仍然有效。',
  ],
  create_link: ['Create link', '生成链接'],
  remove: ['Remove', '移除'],
  remove_title: ['Remove person', '移除用户'],
  remove_text: [
    '{name} can no longer sign in. Open invitations that they created are revoked.',
    '{name} 将无法再登录，其发出的未使用邀请将被撤销。',
  ],
  invite: ['Invite person', '邀请用户'],
  email: ['Email (optional)', '邮箱（可选）'],
  email_hint: [
    'Shown in the list and suggested as the name. The gateway sends no mail.',
    '仅用于列表显示，并作为默认用户名。网关不会发送邮件。',
  ],
  link: ['Link', '链接'],
  link_text: [
    'Send this link to the person. It works once, until {time}, and is shown only now.',
    '请将此链接发给对方。链接仅可使用一次，有效期至 {time}，且只在此处显示一次。',
  ],
  done: ['Done', '完成'],
  invitations: ['Invitations', '邀请'],
  for: ['For', '对象'],
  invited_by: ['Created by', '创建人'],
  expires: ['Expires', '到期时间'],
  revoke: ['Revoke', '撤销'],
  new_password: ['New password of {name}', '{name} 的新密码'],
  anyone: ['Holder of the link', '持有链接者'],
})
