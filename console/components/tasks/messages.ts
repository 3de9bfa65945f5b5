// Texts about tasks that several pages show: states, progress and results.
import { defineMessages } from '../../lib/i18n.ts'

export const taskMessages = defineMessages({
  accepted: ['Accepted', '已受理'],
  unknown: ['Outcome unknown', '结果未知'],
  queued: ['Queued', '排队中'],
  running: ['Running', '进行中'],
  succeeded: ['Succeeded', '成功'],
  failed: ['Failed', '失败'],
  cancelled: ['Cancelled', '已取消'],
  progress: ['Progress', '进度'],
  left: ['· about {time} left', '· 约剩 {time}'],
  overdue: ['· longer than usual', '· 超过通常用时'],
  usual: ['Tasks of this model usually take {time}', '该模型的任务通常需要 {time}'],
  download: ['Download', '下载'],
  expires: ['Expires in {time}. Download it to keep it.', '{time}后过期，请及时下载保存。'],
  hours_left: ['{h} h {m} min', '{h} 小时 {m} 分'],
  expired: [
    'The files expired at {when}. The task record remains.',
    '文件已于 {when} 过期，任务记录仍保留。',
  ],
  step_back: ['Previous frame', '上一帧'],
  step_on: ['Next frame', '下一帧'],
  last_output_frame: ['Last frame', '最后一帧'],
  enlarge: ['Enlarge image {n}', '放大第 {n} 张图片'],
  image_of: ['Image {n} of {all}', '第 {n} 张，共 {all} 张'],
  previous: ['Previous', '上一张'],
  next: ['Next', '下一张'],
  compare: ['Compare with next', '与下一张对比'],
  actual_size: ['Actual size', '原始大小'],
  loop: ['Loop', '循环'],
  speed: ['Speed', '速度'],
})
