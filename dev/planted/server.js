// A server that costs some percent more with PLANT=loop, allocate, json, regex, call or log, TIMES times in each request.
'use strict';
const fs = require('node:fs');
const http = require('node:http');

const times = Number(process.env.TIMES || 0);
const item = { id: 1, tags: Array.from({ length: 20 }, (_, i) => `tag ${i}`) };
const log = fs.openSync('/dev/null', 'w');
const route = /^\/items\/(\d+)\/([a-z]+)$/;
let sink = 0;

const planted = {
  loop: function plantedLoop(url) {
    let sum = 1;
    for (let i = 0; i < times; i++) sum = (sum * 31 + url.charCodeAt(i % url.length)) % 1000003;
    sink = sum;
  },
  allocate: function plantedAllocate(url) {
    const copies = [];
    for (let i = 0; i < times; i++) copies.push({ url, i });
    sink = copies.length;
  },
  json: function plantedJson() {
    for (let i = 0; i < times; i++) sink += JSON.stringify(item).length;
  },
  regex: function plantedRegex(url) {
    for (let i = 0; i < times; i++) sink += route.test(`/items/${i}/abc${url}`) ? 1 : 0;
  },
  call: function plantedCall() {
    for (let i = 0; i < times; i++) sink += fs.existsSync('/etc/hostname') ? 1 : 0;
  },
  log: function plantedLog(url) {
    for (let i = 0; i < times; i++) fs.writeSync(log, `${i} ${url}\n`);
  },
}[process.env.PLANT];

http
  .createServer((request, response) => {
    if (planted) planted(request.url);
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(item));
  })
  .listen(process.env.PORT, '127.0.0.1');
