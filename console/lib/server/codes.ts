// Words of the gateway that people read in the console: audit actions, alerts, endings, units and the
// rest, in both languages. A test compares them with what the gateway has.
export const auditActions = {
  en: {
    'account.callback_secret': 'Rotate callback secret',
    'account.create': 'Create account',
    'account.credit': 'Add credit',
    'alert.resolve': 'Resolve alert',
    backup: 'Download backup',
    'bill.close': 'Close month',
    'channel.create': 'Create channel',
    'channel.delete': 'Delete channel',
    'channel.update': 'Edit channel',
    diagnostics: 'Download diagnostics',
    'export.create': 'Start export',
    'export.delete': 'Delete export',
    'model.put': 'Save model',
    'person.change': 'Edit person',
    'person.create': 'Add person',
    'person.delete': 'Delete person',
    'person.password': 'Change password',
    'price.create': 'Create price version',
    'price.import': 'Import prices',
    'statement.delete': 'Delete statement',
    'statement.import': 'Import statement',
    'task.again': 'Rerun task',
    'task.rerun': 'Rerun task',
    'task.callback': 'Resend callback',
    'task.cancel': 'Cancel task',
    'token.create': 'Create token',
    'token.revoke': 'Revoke token',
    'token.rotate': 'Rotate token secret',
    'token.update': 'Edit token',
  },
  zh: {
    'account.callback_secret': '轮换回调密钥',
    'account.create': '创建账户',
    'account.credit': '账户充值',
    'alert.resolve': '处理告警',
    backup: '下载备份',
    'bill.close': '月份结账',
    'channel.create': '创建渠道',
    'channel.delete': '删除渠道',
    'channel.update': '编辑渠道',
    diagnostics: '下载诊断包',
    'export.create': '开始导出',
    'export.delete': '删除导出',
    'model.put': '保存模型',
    'person.change': '编辑用户',
    'person.create': '新增用户',
    'person.delete': '删除用户',
    'person.password': '修改密码',
    'price.create': '创建价格版本',
    'price.import': '导入价格',
    'statement.delete': '删除上游账单',
    'statement.import': '导入上游账单',
    'task.again': '重新运行任务',
    'task.rerun': '重新运行任务',
    'task.callback': '重新发送回调',
    'task.cancel': '取消任务',
    'token.create': '创建令牌',
    'token.revoke': '吊销令牌',
    'token.rotate': '轮换令牌密钥',
    'token.update': '编辑令牌',
  },
}

export const alertKinds = {
  en: {
    books: 'Ledger mismatch',
    clock: 'Clock skew',
    guards: 'Ledger write protection missing',
    implausible_usage: 'Implausible usage',
    loss: 'Loss',
    missing_price: 'Missing price',
    void_journal: 'Void journal not writable',
  },
  zh: {
    books: '账目不符',
    clock: '时钟偏差',
    guards: '账本写保护缺失',
    implausible_usage: '用量异常',
    loss: '平台损失',
    missing_price: '缺少价格',
    void_journal: '作废日志无法写入',
  },
}

/** What an alert means and what to do; its own text follows. */
export const alertAdvice = {
  en: {
    books: 'The account is suspended. Check its ledger, then resolve the alert.',
    clock: 'The clock of a machine is wrong. Check its time synchronization.',
    guards: 'The triggers that keep ledger entries unchanged are missing from the database.',
    implausible_usage:
      'An upstream reported more usage than the model allows. The charge was capped.',
    loss: 'The upstream did work that no account was charged for.',
    missing_price: 'Add a price for the model; until then it cannot be called.',
    void_journal: 'Check whether the data directory is full or read-only.',
  },
  zh: {
    books: '账户已暂停使用。请核查其账本，然后处理告警。',
    clock: '机器时钟不准，请检查时间同步。',
    guards: '数据库中缺少防止修改账本流水的触发器。',
    implausible_usage: '上游上报的用量超过模型上限，已按上限计费。',
    loss: '上游完成了工作，但没有账户为此付费。',
    missing_price: '请为该模型添加价格，否则无法调用。',
    void_journal: '请检查数据目录是否已满或只读。',
  },
}

export const callEndings = {
  en: {
    complete: 'Completed',
    refused: 'Refused by the gateway',
    failed: 'Failed at the upstream',
    caller_left: 'Caller disconnected',
    cut_short: 'Ended early by the gateway',
  },
  zh: {
    complete: '已完成',
    refused: '被网关拒绝',
    failed: '上游失败',
    caller_left: '调用方断开',
    cut_short: '网关提前结束',
  },
}

export const lossReasons = {
  en: {
    balance_short: 'The charge exceeded the balance',
    failed_after_cost: 'The upstream failed after it had started',
    caller_left: 'The caller disconnected',
    not_delivered: 'The result could not be delivered',
    late_success: 'The task finished after it was abandoned',
    unknown_create: 'The outcome of the creation is unknown',
    second_task: 'The upstream created more than one task',
  },
  zh: {
    balance_short: '费用超出余额',
    failed_after_cost: '上游开始处理后失败',
    caller_left: '调用方断开',
    not_delivered: '结果未能交付',
    late_success: '任务被放弃后才完成',
    unknown_create: '创建结果未知',
    second_task: '上游创建了多个任务',
  },
}

export const ledgerChecks = {
  en: {
    transfers: 'Transfers',
    balances: 'Balances',
    never_below_zero: 'No negative balance',
    charged_once: 'Charged once',
    charges_and_requests: 'Charges and requests',
    charges_and_tasks: 'Charges and tasks',
    holds: 'Holds',
    receipts: 'Receipts',
    seals: 'Seals',
    closed_months: 'Closed months',
    sums_by_hour: 'Hourly totals',
    hourly_totals: 'Hourly totals',
    guards: 'Write protection',
    amounts: 'Amounts',
    purses: 'Credit leases',
    credit_leases: 'Credit leases',
  },
  zh: {
    transfers: '转账',
    balances: '余额',
    never_below_zero: '余额不为负',
    charged_once: '只收费一次',
    charges_and_requests: '费用与请求',
    charges_and_tasks: '费用与任务',
    holds: '预留',
    receipts: '凭据',
    seals: '封印',
    closed_months: '已结月份',
    sums_by_hour: '小时汇总',
    hourly_totals: '小时汇总',
    guards: '写保护',
    amounts: '金额',
    purses: '额度租约',
    credit_leases: '额度租约',
  },
}

export const units = {
  en: { token: 'tokens', image: 'images', video_second: 'seconds', video_token: 'video tokens' },
  zh: { token: 'Token', image: '张', video_second: '秒', video_token: '视频 Token' },
}

export const entryKinds = {
  en: {
    charge: 'Charge',
    hold: 'Hold',
    release: 'Release',
    credit: 'Credit',
    adjust: 'Adjustment',
  },
  zh: {
    charge: '收费',
    hold: '预留',
    release: '释放',
    credit: '充值',
    adjust: '调整',
  },
}

export const modelKinds = {
  en: { text: 'Text', embedding: 'Embedding', image: 'Image', video: 'Video' },
  zh: { text: '文本', embedding: '向量', image: '图片', video: '视频' },
}

export const sources = {
  en: { builtin: 'Built-in', file: 'gateway.yaml', api: 'Console or API' },
  zh: { builtin: '内置', file: 'gateway.yaml', api: '控制台或接口' },
}

export const roles = {
  en: {
    administrator: 'Administrator',
    operator: 'Operator',
    finance: 'Finance',
    member: 'Account member',
  },
  zh: { administrator: '管理员', operator: '运维', finance: '财务', member: '账户成员' },
}
