// SPDX-License-Identifier: MIT
// Guava's side of the interoperability tests: the commands make, answer and merge of peer.c. It
// stands in Guava's package because the strategy of a new filter is not for others to choose.
package com.google.common.hash;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

public final class Peer {
    private static Funnel<?> funnel(String name) {
        switch (name) {
        case "bytes": return Funnels.byteArrayFunnel();
        case "string": return Funnels.stringFunnel(StandardCharsets.UTF_8);
        case "chars": return Funnels.unencodedCharsFunnel();
        case "int": return Funnels.integerFunnel();
        case "long": return Funnels.longFunnel();
        default: throw new IllegalArgumentException(name);
        }
    }

    private static Object key(String name, String hex) {
        byte[] b = new byte[hex.length() / 2];
        for (int i = 0; i < b.length; i++)
            b[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        ByteBuffer le = ByteBuffer.wrap(b).order(ByteOrder.LITTLE_ENDIAN);
        switch (name) {
        case "bytes": return b;
        case "int": return le.getInt();
        case "long": return le.getLong();
        default: return new String(b, StandardCharsets.UTF_8);
        }
    }

    private static List<Object> keys(String name, String path) throws Exception {
        List<Object> all = new ArrayList<>();
        for (String line : Files.readAllLines(Paths.get(path)))
            all.add(key(name, line));
        return all;
    }

    private static BloomFilter<Object> read(String path, String name) throws Exception {
        try (InputStream in = new FileInputStream(path)) {
            return read(in, funnel(name));
        }
    }

    @SuppressWarnings("unchecked")
    private static BloomFilter<Object> read(InputStream in, Funnel<?> f) throws Exception {
        return BloomFilter.readFrom(in, (Funnel<Object>) f);
    }

    private static void write(BloomFilter<Object> f, String path) throws Exception {
        try (OutputStream out = new FileOutputStream(path)) {
            f.writeTo(out);
        }
    }

    @SuppressWarnings("unchecked")
    private static void make(String[] c) throws Exception {
        BloomFilter.Strategy s = c[2].equals("guava32") ? BloomFilterStrategies.MURMUR128_MITZ_32
                                                        : BloomFilterStrategies.MURMUR128_MITZ_64;
        BloomFilter<Object> f = BloomFilter.create((Funnel<Object>) funnel(c[3]),
            Long.parseLong(c[4]), Double.parseDouble(c[5]), s);
        for (Object key : keys(c[3], c[6]))
            f.put(key);
        write(f, c[7]);
    }

    private static void answer(String[] c) throws Exception {
        BloomFilter<Object> f = read(c[3], c[2]);
        StringBuilder out = new StringBuilder();
        for (Object key : keys(c[2], c[4]))
            out.append(f.mightContain(key) ? "1\n" : "0\n");
        Files.write(Paths.get(c[5]), out.toString().getBytes(StandardCharsets.US_ASCII));
    }

    private static void merge(String[] c) throws Exception {
        BloomFilter<Object> f = read(c[2], "bytes");
        f.putAll(read(c[3], "bytes"));
        write(f, c[4]);
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] c = line.split("\t", -1);
            switch (c[0]) {
            case "make": make(c); break;
            case "answer": answer(c); break;
            case "merge": merge(c); break;
            default: throw new IllegalArgumentException(line);
            }
        }
    }

    private Peer() {}
}
