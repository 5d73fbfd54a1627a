export { PropertySuite } from './property/property-suite.ts';
export { propertyText } from './report/terminal.ts';
export { openSurface } from './target/open-surface.ts';
