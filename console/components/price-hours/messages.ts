// Texts of the hours of a price.
import { defineMessages } from '../../lib/i18n.ts'

export const hoursMessages = defineMessages({
  hours: ['Prices by the hour', '分时价格'],
  hours_hint: [
    'Everything the price says is multiplied in the painted hours, by local time of the zone.',
    '在涂选的时段内（按所选时区的当地时间），整个价格乘以对应系数。',
  ],
  grid: ['Hours of the week, {zone}', '一周时段，{zone}'],
  grid_hint: [
    'Choose a factor, then drag over the grid; again to clear. Keyboard: arrow keys, Space, Shift + arrow keys.',
    '选择系数后在表格上拖动；再次拖动即清除。键盘：方向键移动，空格涂选，Shift + 方向键连续涂选。',
  ],
  zone: ['Time zone', '时区'],
  factor: ['Factor {name}', '系数 {name}'],
  paint_with: ['Paint with {name}', '使用 {name} 涂选'],
  except: ['Except on (dates)', '例外日期'],
  except_of: ['except {days}', '{days} 除外'],
  add_hours: ['Add hours', '添加时段'],
  add_factor: ['Add factor', '添加系数'],
  remove_factor: ['Remove factor {name}', '删除系数 {name}'],
  plain: ['plain price', '原价'],
  windows: ['{n} of {max} windows', '{n} / {max} 个时段'],
  whole_day: ['{day}, all day', '{day} 全天'],
  mon: ['Mon', '周一'],
  tue: ['Tue', '周二'],
  wed: ['Wed', '周三'],
  thu: ['Thu', '周四'],
  fri: ['Fri', '周五'],
  sat: ['Sat', '周六'],
  sun: ['Sun', '周日'],
})
