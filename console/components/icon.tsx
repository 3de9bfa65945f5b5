// The icons of the console, 24 by 24, in the color of the text.
const paths = {
  overview: 'M4 13h6V4H4zM14 20h6V11h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  tasks: 'M4 5h16v14H4zM10 9l5 3-5 3z',
  requests: 'M4 6h16M4 12h16M4 18h10',
  alerts: 'M6 17V10a6 6 0 0 1 12 0v7l2 2H4zM10 21h4',
  channels: 'M6 4v6a4 4 0 0 0 4 4h4a4 4 0 0 1 4 4v2M6 20v-6M18 4v4',
  models: 'M12 3l8 4.500v9L12 21l-8-4.500v-9zM4 7.500l8 4.500 8-4.500M12 12v9',
  prices: 'M4 4h8l8 8-8 8-8-8zM8 8h.01',
  tokens: 'M15 9a4 4 0 1 0-4 4l-1 1v2H8v2H5v-3l5.2-5.2',
  bills: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6',
  accounts: 'M3 6h18v13H3zM3 10h18M15 15h3',
  month: 'M4 6h16v14H4zM4 10h16M8 3v4M16 3v4M9 15l2 2 4-4',
  codes: 'M4 7h16v4a2 2 0 0 0 0 3v3H4v-3a2 2 0 0 0 0-3zM14 8v1M14 12v1M14 16v1',
  usage: 'M4 20V10M10 20V4M16 20v-7M22 20H2',
  margins: 'M4 18L10 11l4 4 6-9M15 6h5v5',
  costs: 'M4 7h16v10H4zM12 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM7 12h.01M17 12h.01',
  playground: 'M5 4l14 8-14 8z',
  docs: 'M5 4h10l4 4v12H5zM9 12h6M9 16h6',
  settings:
    'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM19 12l2-1-2-4-2 1-2-1-1-2h-4l-1 2-2 1-2-1-2 4 2 1v2l-2 1 2 4 2-1 2 1 1 2h4l1-2 2-1 2 1 2-4-2-1z',
  audit: 'M6 3h9l4 4v14H6zM9 12l2 2 4-4',
  health: 'M3 12h4l2-6 4 12 2-6h6',
  people:
    'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21c0-4 3-6 7-6s7 2 7 6M17 4a4 4 0 0 1 0 7M22 21c0-3-1.500-5-4-5.500',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12l5 5L20 7',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2',
  moon: 'M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z',
  monitor: 'M3 5h18v11H3zM9 20h6',
  more: 'M4.5 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M11.500 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M18.500 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0',
  close: 'M6 6l12 12M18 6L6 18',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  lock: 'M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3',
  hidden:
    'M4 4l16 16M9.500 5.500A10 10 0 0 1 12 5c6 0 10 7 10 7a17 17 0 0 1-3 3.700M6 7.500A16 16 0 0 0 2 12s4 7 10 7a9 9 0 0 0 4-1',
  eye: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name, size = 18 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.8"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    style={{ flex: 'none' }}
  >
    <path d={paths[name]} />
  </svg>
)
