"""Median time of DNS questions over one UDP socket: ask.py SERVER NAME N."""
import socket
import statistics
import struct
import sys
import time

server, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
question = b"".join(bytes([len(x)]) + x.encode() for x in name.split("."))
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect((server, 53))
sock.settimeout(3)
times = []
for number in range(1, count + 1):
    begun = time.perf_counter()
    sock.send(struct.pack(">6H", number, 0x100, 1, 0, 0, 0) + question +
              struct.pack(">BHH", 0, 1, 1))
    answer = sock.recv(4096)
    times.append(time.perf_counter() - begun)
    if answer[:2] != struct.pack(">H", number) or answer[3] & 15:
        sys.exit("ask: not an answer")
print("%.1f" % (statistics.median(times) * 1e6))
