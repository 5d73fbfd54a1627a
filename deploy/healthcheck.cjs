/** Requests the given path of the service in this container; exits with 0 on status 200. Uses http, which loads faster than fetch. */
const { get } = require('node:http');

const DEFAULT_PORTS = { 'hosted-api': '8080', monitor: '8090' };
const { SERVICE, PORT } = process.env;
const port = PORT || DEFAULT_PORTS[SERVICE];

const fail = (why) => {
  console.log(String(why));
  process.exitCode = 1;
};

get({ host: '127.0.0.1', port, path: process.argv[2] ?? '/health', timeout: 4_000 }, (response) => {
  let body = '';
  response.setEncoding('utf8').on('data', (text) => {
    body += text;
  });
  response.on('end', () => (response.statusCode === 200 ? undefined : fail(`${response.statusCode} ${body}`)));
})
  .on('timeout', function () {
    this.destroy(new Error('no answer within 4 s'));
  })
  .on('error', fail);
