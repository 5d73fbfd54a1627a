import { Html } from '@pipeline/domain';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** The page loads no pictures: an image stays a link. */
const NO_IMAGES = { disable: { null: ['labelStartImage'] } };

/** Renders Markdown of GitHub's flavour. Raw HTML is shown as text, and links with other protocols lose their target. */
export const markdown = (text: string): Html =>
  Html.trusted(micromark(text, { extensions: [gfm(), NO_IMAGES], htmlExtensions: [gfmHtml()] }));
