// Titles of the steps of a task's timeline: of one step, and of several in a row.
type Titles = Readonly<Record<string, { one: string; many?: string }>>

export const stepTitles: { en: Titles; zh: Titles } = {
  en: {
    created: { one: 'Created' },
    sent: { one: 'Accepted by the upstream' },
    lost: { one: 'Unclear whether the upstream received it' },
    found: { one: 'Found at the upstream' },
    look: { one: 'Polled', many: 'Polled {n} times' },
    look_failed: { one: 'Poll failed', many: '{n} polls failed' },
    missing: { one: 'Not found at the upstream', many: 'Not found at the upstream, {n} times' },
    empty: {
      one: 'Reported as done, but without output',
      many: 'Reported as done, but without output, {n} times',
    },
    not_asked: {
      one: 'Not polled: the channel no longer exists',
      many: 'Not polled {n} times: the channel no longer exists',
    },
    search: {
      one: 'Searched at the upstream, not found',
      many: 'Searched at the upstream {n} times, not found',
    },
    search_failed: {
      one: 'Search at the upstream failed',
      many: 'Search at the upstream failed {n} times',
    },
    cancel_asked: { one: 'Cancellation requested' },
    ended: { one: 'Ended' },
    late_look: {
      one: 'Polled after the task was abandoned',
      many: 'Polled {n} times after the task was abandoned',
    },
    late_look_failed: { one: 'Late poll failed', many: '{n} late polls failed' },
    gap: { one: '{n} polls not recorded individually' },
  },
  zh: {
    created: { one: '创建任务' },
    sent: { one: '上游已接收' },
    lost: { one: '无法确认上游是否接收' },
    found: { one: '已在上游找到' },
    look: { one: '轮询', many: '轮询 {n} 次' },
    look_failed: { one: '轮询失败', many: '轮询失败 {n} 次' },
    missing: { one: '上游查无此任务', many: '上游查无此任务，共 {n} 次' },
    empty: { one: '上游称已完成，但没有输出', many: '上游称已完成，但没有输出，共 {n} 次' },
    not_asked: { one: '渠道已不存在，无法轮询', many: '渠道已不存在，{n} 次无法轮询' },
    search: { one: '在上游查找，未找到', many: '在上游查找 {n} 次，未找到' },
    search_failed: { one: '在上游查找失败', many: '在上游查找失败 {n} 次' },
    cancel_asked: { one: '已请求取消' },
    ended: { one: '结束' },
    late_look: { one: '放弃后补充轮询', many: '放弃后补充轮询 {n} 次' },
    late_look_failed: { one: '补充轮询失败', many: '补充轮询失败 {n} 次' },
    gap: { one: '{n} 次轮询未逐条记录' },
  },
}
