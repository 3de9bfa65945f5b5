// Titles of the steps of a task's timeline, in English and Chinese: of one step, and of several in a row.
import type { Text } from '../texts.ts'

export const stepTitles: Readonly<Record<string, { one: Text; many?: Text }>> = {
  created: { one: ['Created', '创建任务'] },
  sent: { one: ['Accepted by the upstream', '上游已接收'] },
  lost: { one: ['Unclear whether the upstream received it', '无法确认上游是否接收'] },
  found: { one: ['Found at the upstream', '已在上游找到'] },
  polled: { one: ['Polled', '轮询'], many: ['Polled {n} times', '轮询 {n} 次'] },
  poll_failed: { one: ['Poll failed', '轮询失败'], many: ['{n} polls failed', '轮询失败 {n} 次'] },
  not_found: {
    one: ['Not found at the upstream', '上游查无此任务'],
    many: ['Not found at the upstream, {n} times', '上游查无此任务，共 {n} 次'],
  },
  no_output: {
    one: ['Reported as done, but without output', '上游称已完成，但没有输出'],
    many: [
      'Reported as done, but without output, {n} times',
      '上游称已完成，但没有输出，共 {n} 次',
    ],
  },
  skipped: {
    one: ['Not polled: the channel no longer exists', '渠道已不存在，无法轮询'],
    many: ['Not polled {n} times: the channel no longer exists', '渠道已不存在，{n} 次无法轮询'],
  },
  search: {
    one: ['Searched at the upstream, not found', '在上游查找，未找到'],
    many: ['Searched at the upstream {n} times, not found', '在上游查找 {n} 次，未找到'],
  },
  search_failed: {
    one: ['Search at the upstream failed', '在上游查找失败'],
    many: ['Search at the upstream failed {n} times', '在上游查找失败 {n} 次'],
  },
  cancel_requested: { one: ['Cancellation requested', '已请求取消'] },
  ended: { one: ['Ended', '结束'] },
  late_poll: {
    one: ['Polled after the task was abandoned', '放弃后补充轮询'],
    many: ['Polled {n} times after the task was abandoned', '放弃后补充轮询 {n} 次'],
  },
  late_poll_failed: {
    one: ['Late poll failed', '补充轮询失败'],
    many: ['{n} late polls failed', '补充轮询失败 {n} 次'],
  },
  truncated: { one: ['{n} polls not recorded individually', '{n} 次轮询未逐条记录'] },
}
