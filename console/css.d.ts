// Style sheets are bundled, not typed.
declare module '*.css'
