/**
 * The pages of the dashboard: one file for Jest, so that server, browser and history are created once. The other widths of
 * all pages are in widths.nightly.test.ts.
 */
import './pages/first-view.ts';
import './pages/dialogs.ts';
import './pages/lists.ts';
import './pages/times.ts';
import './pages/conditions.ts';
import './pages/without-store.ts';
import { checkLayers, checkPages } from './pages/every-page.ts';

checkPages([1440]);
checkLayers([360]);
