/** What ink would load for React's developer tools, which no measured program has. */
export default {initialize() {}, connectToDevTools() {}};
