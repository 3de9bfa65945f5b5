// The theme of Mantine. What is drawn comes from tokens.css by way of mantine.css; here are the sizes of its
// parts and their defaults.
import { createTheme, type MantineColorsTuple } from '@mantine/core'

/** The token of this name. */
const token = (name: string): string => `var(--${name})`

const ink: MantineColorsTuple = [
  ...(['#e9edfd', '#d3dbfb', '#b9c7ff', '#93a8ff', '#7f98ff'] as const),
  ...(['#5f7bf8', '#3f5ef0', '#2746d3', '#1f39b0', '#182c8a'] as const),
]

const gray: MantineColorsTuple = [
  ...(['#f6f7f9', '#f3f4f7', '#e5e7ec', '#d3d8e2', '#c5c9d3'] as const),
  ...(['#aab0bc', '#8a909c', '#636a78', '#4d5462', '#12151d'] as const),
]

/** From the text to the ground, as Mantine uses them in the dark. */
const dark = [
  'text',
  'text',
  'text-2',
  'text-3',
  'line-strong',
  'hover',
  'raised',
  'page',
  'side',
  'side',
].map(token) as unknown as MantineColorsTuple

const step = (name: string) => ({ fontSize: token(name), lineHeight: '1.25' })

export const baseTheme = createTheme({
  respectReducedMotion: true,
  primaryColor: 'ink',
  primaryShade: { light: 7, dark: 6 },
  colors: { ink, gray, dark },
  autoContrast: true,
  cursorType: 'pointer',
  defaultRadius: 'md',
  fontFamily: token('font'),
  fontFamilyMonospace: token('font-mono'),
  fontWeights: {
    regular: token('weight-text'),
    medium: token('weight-name'),
    bold: token('weight-title'),
  },
  fontSizes: {
    xs: token('text-xs'),
    sm: token('text-sm'),
    md: token('text-md'),
    lg: token('text-lg'),
    xl: token('text-xl'),
  },
  spacing: {
    xs: token('space-2'),
    sm: token('space-3'),
    md: token('space-4'),
    lg: token('space-5'),
    xl: token('space-6'),
  },
  radius: { sm: token('radius-sm'), md: token('radius-md'), lg: token('radius-lg') },
  headings: {
    fontWeight: token('weight-title'),
    sizes: {
      h1: step('text-xl'),
      h2: step('text-lg'),
      h3: step('text-lg'),
      h4: step('text-md'),
      h5: step('text-md'),
      h6: step('text-sm'),
    },
  },
  components: {
    Badge: { defaultProps: { variant: 'light', tt: 'none', fw: 500, radius: 'sm', size: 'lg' } },
    Card: { defaultProps: { radius: 'lg' } },
    Modal: { defaultProps: { radius: 'lg' } },
    Button: { defaultProps: { size: 'xs' } },
    SegmentedControl: { defaultProps: { withItemsBorders: false } },
    Alert: { defaultProps: { radius: 'lg' } },
  },
})
