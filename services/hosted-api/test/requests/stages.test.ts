/** The stages of requests: one file for Jest, so that the API and its store are created once. */
import './bad-input.ts';
import './request-limits.ts';
import './content-encodings.ts';
import './parameters.ts';
import './number-bounds.ts';
import './unstorable-text.ts';
import './address-limits.ts';
import './error-pages.ts';
