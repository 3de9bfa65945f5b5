// Words of the gateway that people read in the console: audit actions, alerts, endings, units and the
// rest, in both languages. A test compares them with what the gateway has.
import { modelKindRows } from '../../../src/contract/catalog.ts'
import type { Messages } from '../texts.ts'

export const auditActions = {
  'account.callback_secret': ['Rotate callback secret', '轮换回调密钥'],
  'account.create': ['Create account', '创建账户'],
  'account.credit': ['Add credit', '账户充值'],
  'account.update': ['Edit account', '编辑账户'],
  'alert.acknowledge': ['Acknowledge alert', '认领告警'],
  'alert.resolve': ['Resolve alert', '处理告警'],
  backup: ['Download backup', '下载备份'],
  'bill.close': ['Close month', '月份结账'],
  'channel_month.close': ['Close month of channel', '渠道月结'],
  'bill.link': ['Create bill link', '生成账单链接'],
  'bill.link_revoke': ['Revoke bill link', '撤销账单链接'],
  'bill.send': ['Send bill', '发送账单'],
  'channel.create': ['Create channel', '创建渠道'],
  'channel.delete': ['Delete channel', '删除渠道'],
  'channel.update': ['Edit channel', '编辑渠道'],
  'code.create': ['Create redemption codes', '生成兑换码'],
  'code.delete': ['Withdraw redemption code', '作废兑换码'],
  'code.redeem': ['Redeem code', '使用兑换码'],
  'cost.create': ['Create cost version', '创建成本版本'],
  'cost.delete': ['Withdraw cost version', '撤销成本版本'],
  diagnostics: ['Download diagnostics', '下载诊断包'],
  'invitation.create': ['Invite person', '邀请用户'],
  'invitation.delete': ['Revoke invitation', '撤销邀请'],
  'issuer.update': ['Edit bill issuer', '编辑账单出具方'],
  'model.delete': ['Delete model', '删除模型'],
  'model.put': ['Save model', '保存模型'],
  'person.change': ['Edit person', '编辑用户'],
  'person.create': ['Add person', '新增用户'],
  'person.delete': ['Delete person', '删除用户'],
  'person.password': ['Change password', '修改密码'],
  'person.password_link': ['Create password link', '生成密码重置链接'],
  'price.create': ['Create price version', '创建价格版本'],
  'price.delete': ['Withdraw price version', '撤销价格版本'],
  'price.import': ['Import prices', '导入价格'],
  reload: ['Reload configuration', '重新加载配置'],
  'request.refund': ['Refund request', '请求退款'],
  'statement.delete': ['Delete statement', '删除上游账单'],
  'statement.import': ['Import statement', '导入上游账单'],
  'task.rerun': ['Rerun task', '重新运行任务'],
  'batch.cancel': ['Cancel batch', '取消批处理任务'],
  'task.callback': ['Resend callback', '重新发送回调'],
  'task.cancel': ['Cancel task', '取消任务'],
  'task.refund': ['Refund task', '任务退款'],
  'token.create': ['Create token', '创建令牌'],
  'token.revoke': ['Revoke token', '吊销令牌'],
  'token.rotate': ['Rotate token secret', '轮换令牌密钥'],
  'token.update': ['Edit token', '编辑令牌'],
  'webhook.create': ['Create subscription', '创建通知订阅'],
  'webhook.delete': ['Delete subscription', '删除通知订阅'],
  'webhook.update': ['Edit subscription', '编辑通知订阅'],
} satisfies Messages<string>

export const alertKinds = {
  books: ['Ledger mismatch', '账目不符'],
  channel_down: ['Channel down', '渠道不可用'],
  clock: ['Clock skew', '时钟偏差'],
  error_rate: ['Error rate', '错误率过高'],
  guards: ['Ledger write protection missing', '账本写保护缺失'],
  implausible_usage: ['Implausible usage', '用量异常'],
  loss: ['Loss', '平台损失'],
  'margin.negative': ['Negative margin', '毛利为负'],
  missing_price: ['Missing price', '缺少价格'],
  statement: ['Statement does not match', '上游账单不符'],
  task_failures: ['Many failed tasks', '任务大量失败'],
  void_journal: ['Void journal not writable', '作废日志无法写入'],
} satisfies Messages<string>

/** What an alert means and what to do; its own text follows. */
export const alertAdvice = {
  books: [
    'The account is suspended. Check its ledger, then resolve the alert.',
    '账户已暂停使用。请核查其账本，然后处理告警。',
  ],
  channel_down: [
    'Test the channel, and replace its key if that is rejected. The alert ends when a call succeeds.',
    '请测试该渠道；若密钥被拒绝，请更换密钥。调用成功后告警自动解除。',
  ],
  clock: [
    'The clock of a machine is wrong. Check its time synchronization.',
    '机器时钟不准，请检查时间同步。',
  ],
  error_rate: [
    'Look at the failed requests. The alert ends when the rate is below the limit of the rule.',
    '请查看失败的请求。错误率低于规则上限后告警自动解除。',
  ],
  guards: [
    'The triggers that keep ledger entries unchanged are missing from the database.',
    '数据库中缺少防止修改账本流水的触发器。',
  ],
  implausible_usage: [
    'An upstream reported more usage than the model allows. The charge was capped.',
    '上游上报的用量超过模型上限，已按上限计费。',
  ],
  loss: [
    'The upstream did work that no account was charged for.',
    '上游完成了工作，但没有账户为此付费。',
  ],
  'margin.negative': [
    'Upstreams took more for a day of this model than was charged. Check its prices and costs, then resolve the alert.',
    '该模型某日的上游成本高于收费。请核查其价格与成本，然后处理告警。',
  ],
  missing_price: [
    'Add a price for the model; until then it cannot be called.',
    '请为该模型添加价格，否则无法调用。',
  ],
  statement: [
    'Look at the lines of the statement that do not match, then resolve the alert.',
    '请查看上游账单中不符的明细，然后处理告警。',
  ],
  task_failures: [
    'Look at the failed tasks. The alert ends when fewer than half of them fail.',
    '请查看失败的任务。失败比例低于一半后告警自动解除。',
  ],
  void_journal: [
    'Check whether the data directory is full or read-only.',
    '请检查数据目录是否已满或只读。',
  ],
} satisfies Messages<string>

export const noticeTypes = {
  'balance.low': ['Low balance', '余额过低'],
  'balance.empty': ['Balance used up', '余额不足'],
  'budget.reached': ['Budget reached (50, 80, 100%)', '预算达到 50%、80%、100%'],
  'channel.down': ['Channel down', '渠道不可用'],
  'channel.recovered': ['Channel recovered', '渠道已恢复'],
  'key.rejected': ['Key rejected', '密钥被拒绝'],
  'price.missing': ['Missing price', '缺少价格'],
  'price.changed': ['Price changed', '价格变更'],
  'margin.negative': ['Negative margin', '毛利为负'],
  'bill.closed': ['Bill closed', '账单已结'],
  'loss.booked': ['Loss recorded', '发生平台损失'],
  'ledger.problem': ['Ledger mismatch', '账目不符'],
  'task.failures': ['Many failed tasks', '任务大量失败'],
  error_rate: ['Error rate (by rules)', '错误率（按规则）'],
  'charge.settled': ['Charges (for external billing)', '消费明细（供外部计费）'],
  'batch.completed': ['Batch ended', '批处理任务结束'],
  test: ['Test', '测试'],
} satisfies Messages<string>

export const callbackStates = {
  waiting: ['Waiting', '等待发送'],
  delivered: ['Delivered', '已送达'],
  exhausted: ['Given up', '已放弃'],
} satisfies Messages<string>

export const callEndings = {
  complete: ['Completed', '已完成'],
  refused: ['Refused by the gateway', '被网关拒绝'],
  failed: ['Failed at the upstream', '上游失败'],
  caller_left: ['Caller disconnected', '调用方断开'],
  cut_short: ['Ended early by the gateway', '网关提前结束'],
} satisfies Messages<string>

/** Another word of an upstream is shown as it is. */
export const finishReasons = {
  stop: ['stop (complete)', 'stop（完整结束）'],
  length: ['length (cut at the token limit)', 'length（达到长度上限）'],
  tool_calls: ['tool_calls (calls a tool)', 'tool_calls（调用工具）'],
  content_filter: ['content_filter (withheld)', 'content_filter（内容被过滤）'],
} satisfies Messages<string>

export const lossReasons = {
  balance_short: ['The charge exceeded the balance', '消费超出余额'],
  failed_after_cost: ['The upstream failed after it had started', '上游开始处理后失败'],
  caller_left: ['The caller disconnected', '调用方断开'],
  not_delivered: ['The result could not be delivered', '结果未能交付'],
  implausible_usage: ['The upstream reported more than is plausible', '上游报告的用量超出合理范围'],
  late_success: ['The task finished after it was abandoned', '任务被放弃后才完成'],
  unknown_create: ['The outcome of the creation is unknown', '创建结果未知'],
  second_task: ['The upstream created more than one task', '上游创建了多个任务'],
} satisfies Messages<string>

export const ledgerChecks = {
  transfers: ['Transfers', '转账'],
  balances: ['Balances', '余额'],
  never_below_zero: ['No negative balance', '余额不为负'],
  charged_once: ['Charged once', '只计费一次'],
  charges_and_requests: ['Charges and requests', '消费与请求'],
  charges_and_tasks: ['Charges and tasks', '消费与任务'],
  holds: ['Holds', '预留'],
  receipts: ['Receipts', '凭据'],
  seals: ['Seals', '封印'],
  closed_months: ['Closed months', '已结月份'],
  sums_by_hour: ['Hourly totals', '小时汇总'],
  guards: ['Write protection', '写保护'],
  amounts: ['Amounts', '金额'],
  credit_leases: ['Credit leases', '额度租约'],
} satisfies Messages<string>

export const units = {
  token: ['tokens', 'Token'],
  image: ['images', '张'],
  video_second: ['seconds', '秒'],
  video_token: ['video tokens', '视频 Token'],
  search: ['searches', '次检索'],
  character: ['characters', '字符'],
  audio_second: ['seconds of audio', '秒（音频）'],
  free: ['free calls', '次（免费）'],
} satisfies Messages<string>

export const entryKinds = {
  charge: ['Charge', '消费'],
  hold: ['Hold', '预留'],
  release: ['Release', '释放'],
  credit: ['Credit', '充值'],
  adjust: ['Adjustment', '调整'],
  refund: ['Refund', '退款'],
} satisfies Messages<string>

export const modelKinds: Messages<string> = Object.fromEntries(
  Object.entries(modelKindRows).map(([kind, { title }]) => [kind, title]),
)

export const sources = {
  builtin: ['Built-in', '内置'],
  file: ['gateway.yaml', 'gateway.yaml'],
  api: ['Console or API', '控制台或接口'],
} satisfies Messages<string>

export const roles = {
  administrator: ['Administrator', '管理员'],
  operator: ['Operator', '运维'],
  finance: ['Finance', '财务'],
  member: ['Account member', '账户成员'],
} satisfies Messages<string>

export const channelHealth = {
  good: ['Good', '正常'],
  probing: ['Probing', '探测中'],
  avoided: ['Degraded', '降级'],
  blocked: ['Blocked', '已熔断'],
  drained: ['Taken out', '已停止接单'],
  keys_rejected: ['Key rejected', '密钥被拒绝'],
  test_failed: ['Test failed', '测试失败'],
  down: ['Down', '不可用'],
  failing: ['Failing', '大量失败'],
  untested: ['No calls yet', '尚无调用'],
} satisfies Messages<string>
