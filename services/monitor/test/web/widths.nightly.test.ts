/** All pages and layers of the dashboard at the widths that pages.test.ts leaves out. */
import { checkLayers, checkPages } from './pages/every-page.ts';

checkPages([768, 360]);
checkLayers([768, 1440]);
