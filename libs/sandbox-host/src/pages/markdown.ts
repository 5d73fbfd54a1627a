import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { Html } from '../http/html.ts';

/** The page loads no pictures: an image stays a link. */
const NO_IMAGES = { disable: { null: ['labelStartImage'] } };

/** Renders Markdown of GitHub's flavour. Raw HTML is shown as text, and links with other protocols lose their target. */
export const markdown = (text: string): Html =>
  new Html(micromark(text, { extensions: [gfm(), NO_IMAGES], htmlExtensions: [gfmHtml()] }));
