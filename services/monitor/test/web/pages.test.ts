/** The pages of the dashboard: one file for Jest, so that server, browser and history are created once. */
import './pages/first-view.ts';
import './pages/every-page.ts';
import './pages/layers.ts';
import './pages/lists.ts';
import './pages/times.ts';
import './pages/conditions.ts';
import './pages/without-store.ts';
